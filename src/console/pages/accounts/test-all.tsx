import { useEffect, useState } from "preact/hooks";
import { readTestAll, type TestAllResult, type TestAllStatus, testAllAccounts } from "../../api/accounts.ts";
import { messageOf } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Progress } from "../../ui/progress.tsx";

const POLL_MS = 600;

/** Tests every account, and shows how far it has come; also a run that another tab has started. */
export function TestAll({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [running, setRunning] = useState(false);
  const [status, setStatus] = useState<TestAllStatus | null>(null);
  const [result, setResult] = useState<TestAllResult | null>(null);
  const [error, setError] = useState("");

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
    setRunning(true);
    setStatus(null);
    setResult(null);
    setError("");
    try {
      setResult(await testAllAccounts());
    } catch (thrown) {
      setError(messageOf(thrown));
    }
    setRunning(false);
    await onDone();
  };

  const failed = result?.results.filter(({ success }) => !success) ?? [];
  return (
    <>
      <Button busy={running} onClick={start}>
        Test all
      </Button>
      {running && <Progress label="Accounts tested" value={status?.done ?? 0} max={status?.total ?? 0} />}
      {error !== "" && <Notice kind="error">{error}</Notice>}
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
