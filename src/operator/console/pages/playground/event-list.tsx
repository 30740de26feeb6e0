import { useEffect, useRef } from "preact/hooks";
import { formatPlural } from "../../ui/format.ts";
import { Scroller } from "../../ui/scroller.tsx";
import type { Exchange } from "./stream-answer.ts";

/** Maximum number of displayed events; older ones are hidden. */
const MAX_EVENTS_SHOWN = 500;

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
        HTTP {status}, {formatPlural(events.length, "event")}
        {events.length > MAX_EVENTS_SHOWN && `, the last ${MAX_EVENTS_SHOWN} shown`}
      </p>
      <Scroller label="Events" class="events" box={box}>
        <ol>
          {events.slice(-MAX_EVENTS_SHOWN).map(({ at, event, data }, index) => (
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
