import { useState } from "preact/hooks";
import { detectTechnologies, type Technologies } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { words } from "../../ui/words.ts";
import { TechnologyTable } from "./technology-table.tsx";
import { texts } from "./texts.ts";

/** Form that detects a page's technologies. */
export function TechnologyLookup() {
  const [url, setUrl] = useState("");
  const [technologies, setTechnologies] = useState<Technologies | null>(null);
  const { busy, error, onSubmit } = useAsyncAction();
  const detect = async () => setTechnologies(await detectTechnologies(url));
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={onSubmit(detect)}>
        <TextField label={words.address} value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          {texts.detect}
        </Button>
      </form>
      <Problem error={error} />
      {technologies !== null && (
        <>
          <p role="status">
            {texts.foundAt(texts.technologyCount(technologies.applications.length), technologies.url)}
          </p>
          <TechnologyTable applications={technologies.applications} />
        </>
      )}
    </div>
  );
}
