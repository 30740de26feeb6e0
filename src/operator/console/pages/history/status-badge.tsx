import { Badge, type Tone } from "../../ui/badge.tsx";
import { texts } from "./texts.ts";

const TONES: Readonly<Record<string, Tone>> = {
  streaming: "live",
  success: "good",
  error: "bad",
  cancelled: "neutral",
};

const NAMES: Readonly<Record<string, string>> = {
  streaming: texts.generating,
  success: texts.success,
  cancelled: texts.cancelled,
};

interface StatusBadgeProps {
  readonly status: string;
  readonly code: number;
  readonly error: string;
}

/** Shows the status of a generation. */
export function StatusBadge({ status, code, error }: StatusBadgeProps) {
  return (
    <Badge tone={TONES[status] ?? "neutral"} title={error}>
      {status === "error" ? texts.errorCode(code) : (NAMES[status] ?? status)}
    </Badge>
  );
}
