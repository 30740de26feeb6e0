import { useEffect, useRef } from "preact/hooks";
import { plural } from "../../ui/format.ts";
import { Scroller } from "../../ui/scroller.tsx";
import type { Exchange } from "./converse.ts";

/** Maximum number of displayed events; older ones are hidden. */
const DRAWN = 500;

/** Lists the received events. */
export function EventList({ exchange }: { readonly exchange: Exchange }) {
  const { events, status } = exchange;
  const box = useRef<HTMLElement>(null);
  const { length } = events;
  useEffect(() => {
    if (length > 0) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [length]);
  if (events.length === 0) return <p class="muted">The raw answer appears here while it arrives.</p>;
  return (
    <>
      <p class="muted">
        HTTP {status}, {plural(events.length, "event")}
        {events.length > DRAWN && `, the last ${DRAWN} shown`}
      </p>
      <Scroller label="Events" class="events" box={box}>
        <ol>
          {events.slice(-DRAWN).map(({ at, event, data }, index) => (
            <li key={`${index} ${at}`}>
              <span class="muted tabular">{Math.round(at)} ms</span>
              <code>
                {event !== "" && <strong>{event} </strong>}
                {data}
              </code>
            </li>
          ))}
        </ol>
      </Scroller>
    </>
  );
}
