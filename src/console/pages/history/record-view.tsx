import { useState } from "preact/hooks";
import { capturesOf } from "../../api/captures.ts";
import { ApiError } from "../../api/client.ts";
import { deleteHistory, type HistoryRecord, readHistory } from "../../api/history.ts";
import { go, href } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { count, duration, fullMoment } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { curl } from "../playground/curl.ts";
import { propose } from "../playground/proposal.ts";
import { accountOf } from "./account-of.ts";
import { askedAgain } from "./asked-again.ts";
import { callsIn } from "./calls-in.ts";
import { StatusBadge } from "./status-badge.tsx";
import { timelineOf } from "./timeline.ts";

interface RecordViewProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<void>;
}

const REFRESH_MS = 1_000;

/** Shows one complete generation. Refreshes while the generation runs. */
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
        // A missing record does not appear later, so stop refreshing.
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
            <Timeline record={data} />
            <Tabs label="Parts of the record" current={tab} onChange={setTab} tabs={tabsOf(data)} />
          </>
        )}
      </div>
      <footer>
        {data !== null && <Again record={data} />}
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

/** Shows the steps of the generation. */
function Timeline({ record }: { readonly record: HistoryRecord }) {
  return (
    <ol class="timeline" aria-label="Timeline">
      {timelineOf(record).map(({ at, said, tone }, place) => (
        <li key={place} class={tone}>
          <span class="tabular muted">{at === null ? "" : duration(at)}</span>
          <span>{said}</span>
        </li>
      ))}
    </ol>
  );
}

/** Form that sends the same request again. */
function Again({ record }: { readonly record: HistoryRecord }) {
  const asked = askedAgain(record);
  const { dialect, model, stream, system, turns, lost } = asked;
  const command = curl(location.origin, dialect.request({ model, stream, system, turns, tools: [] }), {});
  const open = () => {
    propose({ dialect: dialect.id, model, stream, system, turns });
    go("playground");
  };
  return (
    <>
      {lost > 0 && <span class="muted grow">Without its attachments, which are not kept:</span>}
      <CopyButton text={command} name="Copy as curl" />
      <Button kind="quiet" onClick={open}>
        Open in playground
      </Button>
    </>
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

/** Lists the exchanges with the provider, if captures exist. */
function Captured({ request }: { readonly request: string }) {
  const { data } = useLoaded((signal) => capturesOf(request, signal), request);
  if (data === null || data.length === 0) return null;
  return (
    <>
      <dt>Captures</dt>
      <dd class="row">
        {data.map(({ id, label, status }) => (
          <a key={id} href={href("captures", id)}>
            {label} {status > 0 && status}
          </a>
        ))}
      </dd>
    </>
  );
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
      <dt>Tokens</dt>
      <dd>
        {count(record.prompt_tokens)} in, {count(record.completion_tokens)} out, of which{" "}
        {count(record.reasoning_tokens)} reasoning
      </dd>
      <dt>Request</dt>
      <dd class="mono">{record.request_id}</dd>
      <Captured request={record.request_id} />
    </dl>
  );
}
