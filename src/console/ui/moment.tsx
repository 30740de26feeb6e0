import { fullMoment, moment } from "./format.ts";

/** A moment in Unix milliseconds; the year and the time zone are told when one points at it. */
export function Moment({ at }: { readonly at: number }) {
  if (at === 0) return <>never</>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullMoment(at)}>
      {moment(at)}
    </time>
  );
}
