import { useState } from "preact/hooks";
import { ApiError } from "../../api/client.ts";
import { deleteHistory, type HistoryRecord, readHistory } from "../../api/history.ts";
import { navigateTo } from "../../routing.ts";
import { type AccountNames, labelAccount, useAccountNames } from "../../shared/account-names.ts";
import { formatCurl } from "../../shared/curl.ts";
import { setInitialConversation } from "../../shared/initial-conversation.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatDuration } from "../../ui/format.ts";
import { Confirm } from "../../ui/forms/confirm.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { selectFirstTab } from "./describe-answer.ts";
import { accountFilter, FilterLink } from "./filter-link.tsx";
import { Facts, type FactsProps } from "./record-facts.tsx";
import { toReplayRequest } from "./replay-request.ts";
import { texts } from "./texts.ts";
import { buildTimeline } from "./timeline.ts";
import { extractToolCallMarkup } from "./tool-call-markup.ts";

interface RecordViewProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<void>;
}

const REFRESH_MS = 1_000;

/** Shows one complete generation. Refreshes while the generation runs. */
export function RecordView({ id, onClose, onDeleted }: RecordViewProps) {
  const names = useAccountNames();
  /** The tab that the reader has chosen; null: none yet. */
  const [tab, setTab] = useState<string | null>(null);
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
          throw new ApiError(404, texts.recordNotFound);
        }
        throw error;
      }
    },
    id,
    done ? 0 : REFRESH_MS,
  );
  const remove = async () => {
    await deleteHistory(id);
    showToast(texts.recordDeleted);
    onClose();
    await onDeleted();
  };
  return (
    <Dialog title={texts.generation} onClose={onClose} wide>
      <div class="dialog-body stack">
        <LoadState {...{ data, error, reload }} />
        {data !== null && (
          <>
            <Facts record={data} names={names} />
            <Problem error={data.error} />
            <Timeline record={data} names={names} />
            <Tabs
              label={texts.parts}
              current={tab ?? selectFirstTab(data)}
              onChange={setTab}
              tabs={buildTabs(data)}
            />
          </>
        )}
      </div>
      <footer>
        {/* What a refused request asked for is not stored. */}
        {data !== null && data.refusals === undefined && <ReplayButtons record={data} />}
        <Button kind="danger" needs="operator" disabled={data === null} onClick={() => setDeleting(true)}>
          {texts.deleteRecord}
        </Button>
      </footer>
      {deleting && (
        <Confirm
          title={texts.deleteRecordTitle}
          action={words.delete}
          onClose={() => setDeleting(false)}
          run={remove}
        >
          <p>{texts.deletionWarning}</p>
        </Confirm>
      )}
    </Dialog>
  );
}

/** Makes the account in a text a filter of the list. */
function linkAccount(text: string, account: string, names: AccountNames) {
  const label = labelAccount(account, names);
  const start = text.indexOf(label);
  if (start === -1) return text;
  return (
    <>
      {text.slice(0, start)}
      <FilterLink name="account" value={accountFilter(account, names)} query="" />
      {text.slice(start + label.length)}
    </>
  );
}

/** Shows the steps of the generation. */
function Timeline({ record, names }: FactsProps) {
  return (
    <ol class="timeline" aria-label={texts.timeline}>
      {buildTimeline(record, names).map(({ at, text, tone, account = "" }, index) => (
        <li key={index} class={tone}>
          <span class="tabular muted">{at === null ? "" : formatDuration(at)}</span>
          <span>{account === "" ? text : linkAccount(text, account, names)}</span>
        </li>
      ))}
    </ol>
  );
}

/** Buttons that send the same request again, unchanged or edited in the playground. */
function ReplayButtons({ record }: { readonly record: HistoryRecord }) {
  const { dialect, lost, ...request } = toReplayRequest(record);
  const command = formatCurl(location.origin, dialect.buildRequest(request), {});
  const open = (isSent: boolean) => {
    setInitialConversation({ ...request, dialect: dialect.id, isSent });
    navigateTo("playground");
  };
  return (
    <>
      {lost.length > 0 && <span class="muted grow">{texts.sentWithout(lost.join(", "))}</span>}
      <CopyButton text={command} name={texts.copyAsCurl} />
      <Button kind="quiet" disabled={request.turns.length === 0} onClick={() => open(true)}>
        {texts.sendAgain}
      </Button>
      <Button kind="primary" onClick={() => open(false)}>
        {texts.editAndSend}
      </Button>
    </>
  );
}

function buildTabs(record: HistoryRecord) {
  const calls = extractToolCallMarkup(record.content) || extractToolCallMarkup(record.reasoning);
  const { called_functions: functions = [], finish_reason: reason } = record;
  const unnamedText = reason === "tool_calls" ? texts.callsNotStored : texts.noToolCalls;
  const noCallsText = functions.length > 0 ? texts.argumentsNotStored(functions.join(", ")) : unnamedText;
  const createTab = (id: string, name: string, text: string, emptyText: string) => ({
    id,
    name,
    content: () => (text === "" ? <p class="muted">{emptyText}</p> : <CodeBlock label={name} text={text} />),
  });
  return [
    createTab("answer", texts.answer, record.content, texts.noAnswerText),
    createTab("reasoning", texts.reasoning, record.reasoning, texts.noReasoning),
    createTab("calls", texts.toolCalls, calls, noCallsText),
    createTab("messages", texts.messages, JSON.stringify(record.messages, null, 2), texts.noMessages),
    createTab("prompt", texts.prompt, record.prompt, texts.noPrompt),
  ];
}
