import { useState } from "preact/hooks";
import { toMessage } from "../api/client.ts";
import { type TestResult, testModel } from "../api/model-test.ts";
import { Badge } from "./badge.tsx";
import { Button } from "./button.tsx";
import { formatDuration } from "./format.ts";
import { words } from "./words.ts";

interface TestButtonProps {
  /** Returns the model to test; undefined: there is none. */
  readonly findModel: () => Promise<string | undefined>;
  /** What is tested, for screen readers. */
  readonly label: string;
}

/** Sends a test request to a model and shows the result beside the button. */
export function TestButton({ findModel, label }: TestButtonProps) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<TestResult | null>(null);
  const test = async (): Promise<TestResult> => {
    const model = await findModel();
    return model === undefined ? { ok: false, message: words.noModelToTest } : testModel(model);
  };
  const run = async () => {
    setBusy(true);
    setResult(await test().catch((error) => ({ ok: false, message: toMessage(error) }) as const));
    setBusy(false);
  };
  return (
    <>
      <span aria-live="polite">{result !== null && <Result result={result} />}</span>
      <Button kind="quiet" needs="operator" label={label} busy={busy} onClick={() => void run()}>
        {words.test}
      </Button>
    </>
  );
}

function Result({ result }: { readonly result: TestResult }) {
  if (result.ok) return <Badge tone="good">{formatDuration(result.ms)}</Badge>;
  return (
    <>
      <Badge tone="bad">{words.failed}</Badge> <span class="test-failure">{result.message}</span>
    </>
  );
}
