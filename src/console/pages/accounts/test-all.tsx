import { useEffect, useState } from "preact/hooks";
import { readTestAll, type TestAllResult, type TestAllStatus, testAllAccounts } from "../../api/accounts.ts";
import { Button } from "../../ui/button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useWork } from "../../ui/use-work.ts";

const POLL_MS = 600;

/** Tests every account, and shows how far it has come; also a run that another tab has started. */
export function TestAll({ onDone }: { readonly onDone: () => Promise<void> }) {
  const { busy: running, error, run } = useWork();
  const [status, setStatus] = useState<TestAllStatus | null>(null);
  const [result, setResult] = useState<TestAllResult | null>(null);

  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => {
      readTestAll()
        .then(setStatus)
        .catch(() => undefined);
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [running]);

  const start = async () => {
    setStatus(null);
    setResult(null);
    await run(async () => setResult(await testAllAccounts()));
    await onDone();
  };

  const failed = result?.results.filter(({ success }) => !success) ?? [];
  return (
    <>
      <Button busy={running} onClick={start}>
        Test all
      </Button>
      {running && <Progress label="Accounts tested" value={status?.done ?? 0} max={status?.total ?? 0} />}
      <Problem error={error} />
      {result !== null && failed.length === 0 && (
        <Notice kind="success">All {result.total} accounts work.</Notice>
      )}
      {failed.length > 0 && result !== null && (
        <Notice kind="warning">
          {result.failed} of {result.total} accounts failed.{" "}
          <details>
            <summary>Which, and why</summary>
            <ul>
              {failed.map(({ account, message }) => (
                <li key={account}>
                  {account}: {message}
                </li>
              ))}
            </ul>
          </details>
        </Notice>
      )}
    </>
  );
}
