import { Button } from "../button.tsx";
import { Notice } from "../notice.tsx";
import { words } from "../words.ts";

interface ProblemProps {
  /** Empty: renders nothing. */
  readonly error: string;
  /** Retries a failed load. */
  readonly retry?: () => Promise<void>;
}

/** An error message, if there is an error. */
export function Problem({ error, retry }: ProblemProps) {
  if (error === "") return null;
  return (
    <Notice
      kind="error"
      {...(retry !== undefined && { action: <Button onClick={() => void retry()}>{words.tryAgain}</Button> })}
    >
      {error}
    </Notice>
  );
}
