import { useState } from "preact/hooks";
import { detectTechnologies, type Technologies } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { formatPlural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { TechnologyTable } from "./technology-table.tsx";

/** Form that detects a page's technologies. */
export function TechnologyLookup() {
  const [url, setUrl] = useState("");
  const [technologies, setTechnologies] = useState<Technologies | null>(null);
  const { busy, error, onSubmit } = useAsyncAction();
  const detect = async () => setTechnologies(await detectTechnologies(url));
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={onSubmit(detect)}>
        <TextField label="Address" value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          Detect
        </Button>
      </form>
      <Problem error={error} />
      {technologies !== null && (
        <>
          <p role="status">
            {formatPlural(technologies.applications.length, "technology", "technologies")} found at{" "}
            {technologies.url}
          </p>
          <TechnologyTable applications={technologies.applications} />
        </>
      )}
    </div>
  );
}
