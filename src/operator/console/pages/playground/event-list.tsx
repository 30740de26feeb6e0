import { useEffect, useRef } from "preact/hooks";
import { Scroller } from "../../ui/scroller.tsx";
import type { Exchange } from "./stream-answer.ts";
import { texts } from "./texts.ts";

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
  if (events.length === 0) return <p class="muted">{texts.noRawAnswer}</p>;
  return (
    <>
      <p class="muted">
        {texts.http(status, texts.eventCount(events.length))}
        {events.length > MAX_EVENTS_SHOWN && texts.lastShown(MAX_EVENTS_SHOWN)}
      </p>
      <Scroller label={texts.events} class="events" box={box}>
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
