import { useEffect, useRef, useState } from "preact/hooks";
import { HOUR_MS } from "../../../../core/units.ts";
import {
  cancelTestAll,
  readTestAll,
  type TestAllStatus,
  testAccounts,
  testAllAccounts,
} from "../../api/accounts.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { formatFullTime } from "../../ui/format.ts";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { Progress } from "../../ui/progress.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

const POLL_MS = 600;
/** Interval of checks for a test that another tab or administrator started. */
const IDLE_MS = 15_000;
/** How long the result of a test is displayed. */
const NEWS_MS = HOUR_MS;

interface TestAllProps {
  /** Test only these accounts; empty: all. */
  readonly chosen: ReadonlySet<string>;
  readonly onDone: () => Promise<void>;
}

/**
 * Tests all or the selected accounts and shows the progress. Also shows a run from before a page change or from another
 * tab.
 */
export function TestAll({ chosen, onDone }: TestAllProps) {
  const started = useAsyncAction();
  const cancelled = useAsyncAction();
  const [polls, setPolls] = useState(true);
  const { data: status, error, reload } = useLoaded(readTestAll, "", polls ? POLL_MS : IDLE_MS);
  const running = started.busy || status?.running === true;
  useEffect(() => setPolls(running), [running]);

  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !running) void onDone();
    wasRunning.current = running;
  }, [running, onDone]);

  const start = (resume: boolean) =>
    void started
      .run(() => (chosen.size > 0 && !resume ? testAccounts([...chosen]) : testAllAccounts(resume)))
      .then(async () => {
        await reload();
      });
  const untested = status === null || status.some ? 0 : status.total - status.done;
  return (
    <>
      <Button needs="operator" busy={running} onClick={() => start(false)}>
        {chosen.size > 0 ? texts.testChosen(formatCount(chosen.size)) : texts.testAll}
      </Button>
      {running && (
        <>
          <Progress label={texts.accountsTested} value={status?.done ?? 0} max={status?.total ?? 0} />
          <Button
            kind="quiet"
            needs="operator"
            busy={cancelled.busy}
            onClick={() => void cancelled.run(cancelTestAll)}
          >
            {words.cancel}
          </Button>
        </>
      )}
      {!running && status !== null && untested > 0 && (
        <Button needs="operator" onClick={() => start(true)}>
          {texts.testRemaining(formatCount(untested))}
        </Button>
      )}
      <Problem error={started.error || cancelled.error || error} />
      {!running && status !== null && isRecent(status) && <Outcome status={status} />}
    </>
  );
}

const isRecent = ({ total, finished_at = 0 }: TestAllStatus): boolean =>
  total > 0 && (finished_at === 0 || Date.now() - finished_at < NEWS_MS);

/** Shows the result of the last run. */
function Outcome({ status }: { readonly status: TestAllStatus }) {
  const { total, done, failed, failures, finished_at = 0 } = status;
  const timeNote = finished_at === 0 ? "" : ` (${formatFullTime(finished_at)})`;
  const stoppedNote = done < total ? texts.testEndedAfter(formatCount(done), words.accountCount(total)) : "";
  if (failed === 0) {
    return (
      <Notice kind={done < total ? "info" : "success"}>
        {stoppedNote}
        {done < total ? texts.noneTheseFailed : texts.accountsWork(total, !status.some)}
        {timeNote}.
      </Notice>
    );
  }
  return (
    <Notice kind="warning">
      {texts.failed(stoppedNote, formatCount(failed), words.accountCount(done), timeNote)}{" "}
      <details>
        <summary>{texts.showFailures}</summary>
        <ul>
          {failures.map(({ account, message }) => (
            <li key={account}>
              {account}: {message}
            </li>
          ))}
        </ul>
        {failed > failures.length && <p>{texts.andMore(formatCount(failed - failures.length))}</p>}
      </details>
    </Notice>
  );
}
