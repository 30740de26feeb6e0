import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

interface ProblemProps {
  /** Empty: nothing is shown. */
  readonly error: string;
  /** For what could not be loaded: another try. */
  readonly retry?: () => Promise<void>;
}

/** Why something failed, if it did. */
export function Problem({ error, retry }: ProblemProps) {
  if (error === "") return null;
  return (
    <Notice
      kind="error"
      {...(retry !== undefined && { action: <Button onClick={() => void retry()}>Try again</Button> })}
    >
      {error}
    </Notice>
  );
}
