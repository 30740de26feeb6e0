import { fullMoment, moment } from "./format.ts";

/** Shows a time given in Unix milliseconds. The tooltip has the year and the time zone. */
export function Moment({ at }: { readonly at: number }) {
  if (at === 0) return <>never</>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullMoment(at)}>
      {moment(at)}
    </time>
  );
}
