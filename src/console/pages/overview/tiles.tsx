import type { QueueStatus } from "../../api/queue.ts";
import { compact, count } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { type Reading, spansOf } from "./readings.ts";

interface TilesProps {
  readonly queue: QueueStatus | null;
  readonly readings: readonly Reading[];
}

/** Newest readings that a tile's rate is made of: half a minute. */
const RECENT = 6;

const full = ({ in_use, global_max_inflight }: QueueStatus): boolean =>
  global_max_inflight > 0 && in_use >= global_max_inflight;

/** One error in a hundred needs a look, one in ten an operator. */
function errorTone(requests: number, errors: number): "warn" | "bad" | undefined {
  if (requests === 0 || errors / requests < 0.01) return undefined;
  return errors / requests < 0.1 ? "warn" : "bad";
}

/** The gateway's state in five numbers. */
export function Tiles({ queue, readings }: TilesProps) {
  const first = readings[0];
  const last = readings.at(-1);
  const recent = spansOf(readings.slice(-RECENT));
  const rates = recent.map(({ requests }) => requests).filter((rate) => rate !== null);
  const rate = rates.length === 0 ? null : rates.reduce((sum, each) => sum + each, 0) / rates.length;
  const firstToken = spansOf(readings).findLast((span) => span.firstToken !== null)?.firstToken ?? null;
  const since = (pick: (reading: Reading) => number): number =>
    first === undefined || last === undefined ? 0 : Math.max(0, pick(last) - pick(first));
  const requests = since((reading) => reading.requests);
  const errors = since((reading) => reading.errors);
  return (
    <dl class="tiles">
      <Tile
        name="Slots in use"
        value={queue === null ? "–" : `${count(queue.in_use)} / ${count(queue.global_max_inflight)}`}
        below={queue === null ? "" : `${count(queue.available)} of ${count(queue.total)} accounts free`}
        tone={queue !== null && full(queue) ? "warn" : undefined}
      />
      <Tile
        name="Waiting"
        value={queue === null ? "–" : count(queue.waiting)}
        below={queue === null ? "" : `room for ${count(queue.max_queue_size)}`}
        tone={queue !== null && queue.waiting > 0 ? "warn" : undefined}
      />
      <Tile
        name="Requests a second"
        value={rate === null ? "–" : rate.toFixed(rate < 10 ? 2 : 0)}
        below={`${compact(requests)} while watching`}
      />
      <Tile
        name="Time to first token"
        value={firstToken === null ? "–" : `${Math.round(firstToken * 1_000)} ms`}
        below="newest answers"
      />
      <Tile
        name="Errors"
        value={requests === 0 ? "0%" : `${((errors / requests) * 100).toFixed(errors === 0 ? 0 : 1)}%`}
        below={`${compact(errors)} while watching`}
        tone={errorTone(requests, errors)}
      />
    </dl>
  );
}
