import { useState } from "preact/hooks";
import { captureSample, deleteSample, listSamples, readSample, type Sample } from "../../api/captures.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** Samples of raw upstream responses. `saved` changes when another part of the page saves a sample. */
export function Samples({ saved }: { readonly saved: number }) {
  const { data, error, reload } = useLoaded(listSamples, String(saved));
  const [message, setMessage] = useState("");
  const { busy, error: failure, run, onSubmit } = useAsyncAction();
  const saveSample = async () => {
    await captureSample(message);
    showToast(texts.sampleTaken);
    await reload();
  };
  const download = async (id: string) => saveFile(`${id}.json`, await readSample(id), "application/json");
  const remove = async (id: string) => {
    await deleteSample(id);
    showToast(texts.sampleDeleted);
    await reload();
  };
  const columns: Column<Sample>[] = [
    { title: texts.sample, class: "mono", cell: ({ sample_id: id }) => id },
    { title: texts.kept, class: "tabular", cell: ({ saved_at }) => <Timestamp at={saved_at} /> },
    { title: texts.rounds, cell: ({ rounds }) => texts.roundCount(rounds.length) },
    actionColumn(({ sample_id: id }) => (
      <>
        <Button kind="quiet" label={texts.download(id)} onClick={() => run(() => download(id))}>
          {texts.downloadTitle}
        </Button>
        <Button kind="quiet" needs="operator" label={texts.delete(id)} onClick={() => run(() => remove(id))}>
          {words.delete}
        </Button>
      </>
    )),
  ];
  return (
    <Panel title={texts.samples}>
      <div class="stack">
        <form class="inline-form" onSubmit={onSubmit(saveSample)}>
          <TextField
            label={words.message}
            value={message}
            onChange={setMessage}
            placeholder={texts.sampleMessage}
          />
          <Button type="submit" needs="operator" busy={busy}>
            {texts.takeSample}
          </Button>
        </form>
        <Problem error={failure || error} />
        {data !== null && (
          <PagedTable
            items={data}
            keyOf={({ sample_id: id }) => id}
            columns={columns}
            empty={<p class="muted">{texts.noSamples}</p>}
          />
        )}
      </div>
    </Panel>
  );
}
