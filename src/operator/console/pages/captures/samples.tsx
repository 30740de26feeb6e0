import { useState } from "preact/hooks";
import { captureSample, deleteSample, listSamples, readSample, type Sample } from "../../api/captures.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { formatPlural } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { useLoaded } from "../../ui/use-loaded.ts";

/** Samples of raw upstream responses. `saved` changes when another part of the page saves a sample. */
export function Samples({ saved }: { readonly saved: number }) {
  const { data, error, reload } = useLoaded(listSamples, String(saved));
  const [message, setMessage] = useState("");
  const { busy, error: failure, run, onSubmit } = useAsyncAction();
  const saveSample = async () => {
    await captureSample(message);
    showToast("Sample taken");
    await reload();
  };
  const download = async (id: string) => saveFile(`${id}.json`, await readSample(id), "application/json");
  const remove = async (id: string) => {
    await deleteSample(id);
    showToast("Sample deleted");
    await reload();
  };
  const columns: Column<Sample>[] = [
    { title: "Sample", class: "mono", cell: ({ sample_id: id }) => id },
    { title: "Kept", class: "tabular", cell: ({ saved_at }) => <Timestamp at={saved_at} /> },
    { title: "Rounds", cell: ({ rounds }) => formatPlural(rounds.length, "round") },
    actionColumn(({ sample_id: id }) => (
      <>
        <Button kind="quiet" label={`Download ${id}`} onClick={() => run(() => download(id))}>
          Download
        </Button>
        <Button kind="quiet" label={`Delete ${id}`} onClick={() => run(() => remove(id))}>
          Delete
        </Button>
      </>
    )),
  ];
  return (
    <Panel title="Samples">
      <div class="stack">
        <form class="inline-form" onSubmit={onSubmit(saveSample)}>
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
        <Problem error={failure || error} />
        {data !== null && (
          <DataTable
            items={data}
            keyOf={({ sample_id: id }) => id}
            columns={columns}
            empty={<p class="muted">No samples are kept.</p>}
          />
        )}
      </div>
    </Panel>
  );
}
