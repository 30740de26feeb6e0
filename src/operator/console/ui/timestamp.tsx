import { formatFullTime, formatTime } from "./format.ts";
import { words } from "./words.ts";

/** Shows a time given in Unix milliseconds. The tooltip has the year and the time zone. */
export function Timestamp({ at }: { readonly at: number }) {
  if (at === 0) return <>{words.never}</>;
  return (
    <time dateTime={new Date(at).toISOString()} title={formatFullTime(at)}>
      {formatTime(at)}
    </time>
  );
}
