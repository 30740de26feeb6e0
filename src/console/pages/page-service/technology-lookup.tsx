import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import { detectTechnologies, type Technologies } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";

/** Finds out what a page is built with. */
export function TechnologyLookup() {
  const [url, setUrl] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [found, setFound] = useState<Technologies | null>(null);
  const look = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      setFound(await detectTechnologies(url));
    } catch (thrown) {
      setError(messageOf(thrown));
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={look}>
        <TextField label="Address" value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          Detect
        </Button>
      </form>
      {error !== "" && <Notice kind="error">{error}</Notice>}
      {found !== null && (
        <>
          <p role="status">
            {plural(found.applications.length, "technology", "technologies")} found at {found.url}
          </p>
          <div class="table-box">
            <table>
              <thead>
                <tr>
                  <th scope="col">Technology</th>
                  <th scope="col">Version</th>
                  <th scope="col">Categories</th>
                  <th scope="col" class="end">
                    Confidence
                  </th>
                </tr>
              </thead>
              <tbody>
                {found.applications.map(({ name, version, categories, confidence, website }) => (
                  <tr key={name}>
                    <td>
                      {/^https?:/.test(website) ? (
                        <a href={website} rel="noreferrer" target="_blank">
                          {name}
                        </a>
                      ) : (
                        name
                      )}
                    </td>
                    <td class="tabular">{version || "–"}</td>
                    <td class="muted">{categories.join(", ")}</td>
                    <td class="end tabular">{confidence}%</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </div>
  );
}
