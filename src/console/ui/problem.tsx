import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

interface ProblemProps {
  /** Empty: nothing is shown. */
  readonly error: string;
  readonly retry: () => Promise<void>;
}

/** Why something could not be loaded, with another try. */
export function Problem({ error, retry }: ProblemProps) {
  if (error === "") return null;
  return (
    <Notice kind="error" action={<Button onClick={() => void retry()}>Try again</Button>}>
      {error}
    </Notice>
  );
}
