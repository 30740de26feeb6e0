import { useState } from "preact/hooks";
import { captureSample, deleteSample, listSamples, readSample } from "../../api/captures.ts";
import { messageOf } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { moment, plural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";

/** Samples of the provider's raw answers. `saved` changes when another part of the page has kept one. */
export function Samples({ saved }: { readonly saved: number }) {
  const { data, error, reload } = useLoaded(listSamples, String(saved));
  const [message, setMessage] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const run = async (work: () => Promise<unknown>, said: string) => {
    setBusy(true);
    setFailure("");
    try {
      await work();
      if (said !== "") toast(said);
      await reload();
    } catch (thrown) {
      setFailure(messageOf(thrown));
    }
    setBusy(false);
  };
  const download = (id: string) =>
    run(async () => saveFile(`${id}.json`, await readSample(id), "application/json"), "");
  const problem = failure || error;
  return (
    <Panel title="Samples">
      <div class="stack">
        <form
          class="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            void run(() => captureSample(message), "Sample taken");
          }}
        >
          <TextField
            label="Message"
            value={message}
            onChange={setMessage}
            placeholder="Hello! Who are you?"
          />
          <Button type="submit" busy={busy}>
            Send and keep the raw answer
          </Button>
        </form>
        {problem !== "" && <Notice kind="error">{problem}</Notice>}
        {data !== null && data.length === 0 && <p class="muted">No samples are kept.</p>}
        {data !== null && data.length > 0 && (
          <div class="table-box">
            <table>
              <thead>
                <tr>
                  <th scope="col">Sample</th>
                  <th scope="col">Kept</th>
                  <th scope="col">Rounds</th>
                  <th scope="col">
                    <span class="hidden-text">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.map(({ sample_id: id, saved_at, rounds }) => (
                  <tr key={id}>
                    <td class="mono">{id}</td>
                    <td class="tabular">{moment(saved_at)}</td>
                    <td>{plural(rounds.length, "round")}</td>
                    <td>
                      <div class="actions">
                        <Button kind="quiet" label={`Download ${id}`} onClick={() => download(id)}>
                          Download
                        </Button>
                        <Button
                          kind="quiet"
                          label={`Delete ${id}`}
                          onClick={() => run(() => deleteSample(id), "Sample deleted")}
                        >
                          Delete
                        </Button>
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </Panel>
  );
}
