import { useState } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { deleteHistory, type HistoryRecord, readHistory } from "../../api/history.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { count, duration, fullMoment } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { accountOf } from "./account-of.ts";
import { callsIn } from "./calls-in.ts";
import { StatusBadge } from "./status-badge.tsx";

interface RecordViewProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<void>;
}

const REFRESH_MS = 1_000;

/** One generation in full; it grows while it is generated. */
export function RecordView({ id, onClose, onDeleted }: RecordViewProps) {
  const [tab, setTab] = useState("answer");
  const [done, setDone] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const { data, error, reload } = useLoaded(
    async (signal) => {
      try {
        const record = await readHistory(id, signal);
        setDone(record.status !== "streaming");
        return record;
      } catch (error) {
        // What is not there does not come by waiting.
        if (error instanceof ApiError && error.status === 404) {
          setDone(true);
          throw new ApiError(404, "This record is not there. It was deleted, or is older than what is kept.");
        }
        throw error;
      }
    },
    id,
    done ? 0 : REFRESH_MS,
  );
  const remove = async () => {
    await deleteHistory(id);
    toast("Record deleted");
    onClose();
    await onDeleted();
  };
  return (
    <Dialog title="Generation" onClose={onClose} wide>
      <div class="dialog-body stack">
        <Problem error={error} retry={reload} />
        {data !== null && (
          <>
            <Facts record={data} />
            <Problem error={data.error} />
            <Tabs label="Parts of the record" current={tab} onChange={setTab} tabs={tabsOf(data)} />
          </>
        )}
      </div>
      <footer>
        <Button kind="danger" disabled={data === null} onClick={() => setDeleting(true)}>
          Delete record
        </Button>
      </footer>
      {deleting && (
        <Confirm title="Delete this record?" action="Delete" onClose={() => setDeleting(false)} run={remove}>
          <p>What was asked and answered is forgotten. This cannot be undone.</p>
        </Confirm>
      )}
    </Dialog>
  );
}

function tabsOf(record: HistoryRecord) {
  const calls = callsIn(record.content) || callsIn(record.reasoning);
  const part = (id: string, name: string, text: string, none: string) => ({
    id,
    name,
    content: () => (text === "" ? <p class="muted">{none}</p> : <CodeBlock label={name} text={text} />),
  });
  return [
    part("answer", "Answer", record.content, "No text came from the provider."),
    part("reasoning", "Reasoning", record.reasoning, "The model did not think aloud."),
    part("calls", "Tool calls", calls, "No tool was called."),
    part("messages", "Messages", JSON.stringify(record.messages, null, 2), "No messages."),
    part("prompt", "Prompt", record.prompt, "No prompt was sent."),
  ];
}

function Facts({ record }: { readonly record: HistoryRecord }) {
  const { requested_model: requested, model } = record;
  return (
    <dl class="facts">
      <dt>Status</dt>
      <dd>
        <StatusBadge status={record.status} code={record.status_code} error={record.error} />
      </dd>
      <dt>Time</dt>
      <dd>
        {fullMoment(record.created_at)}, took {duration(record.elapsed_ms)}
      </dd>
      <dt>Model</dt>
      <dd>{requested === model || requested === "" ? model : `${model}, asked for as ${requested}`}</dd>
      <dt>Caller</dt>
      <dd>
        {record.dialect}
        {record.stream ? ", streamed" : ""}
        {record.source !== "" && `, from ${record.source}`}
      </dd>
      <dt>Account</dt>
      <dd>
        {accountOf(record)}
        {record.attempts > 1 && `, after ${record.attempts} attempts`}
      </dd>
      {record.tried.length > 0 && <dt>Failed</dt>}
      {record.tried.map(({ account, reason, message }, place) => (
        <dd key={place}>
          {account}: {message} <span class="muted">({reason})</span>
        </dd>
      ))}
      <dt>Tokens</dt>
      <dd>
        {count(record.prompt_tokens)} in, {count(record.completion_tokens)} out, of which{" "}
        {count(record.reasoning_tokens)} reasoning
      </dd>
      <dt>Request</dt>
      <dd class="mono">{record.request_id}</dd>
    </dl>
  );
}
