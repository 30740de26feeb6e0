import type { QueueStatus } from "../../api/queue.ts";
import { type AccountNames, labelAccount } from "../../shared/account-names.ts";
import { formatApiStyle } from "../../ui/api-styles.ts";
import { formatCount } from "../../ui/count.ts";
import { formatDuration } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { words } from "../../ui/words.ts";
import type { SlotsProps } from "./slots.tsx";
import { texts } from "./texts.ts";

/** A request that holds a slot, or waits for one. */
interface Request {
  readonly id: string;
  readonly waits: boolean;
  readonly model: string;
  /** Empty: any account. */
  readonly account: string;
  /** Empty: unknown. */
  readonly dialect: string;
  /** Time that it has run or waited, in milliseconds. */
  readonly ms: number;
}

const createColumns = (names: AccountNames): readonly Column<Request>[] => [
  { title: words.state, cell: ({ waits }) => (waits ? texts.waits : texts.runs) },
  { title: words.model, cell: ({ model }) => model },
  { title: words.account, cell: ({ account }) => labelAccount(account, names) || words.any },
  { title: words.apiStyle, cell: ({ dialect }) => formatApiStyle(dialect) || "–" },
  { title: words.request, class: "mono muted", cell: ({ id }) => id },
  { title: words.duration, end: true, class: "tabular", cell: ({ ms }) => formatDuration(ms) },
];

function listRequests({ leases, waiting_requests }: QueueStatus): Request[] {
  return [
    ...leases.map((lease) => ({ ...lease, id: lease.request_id, ms: lease.age_ms, waits: false })),
    ...waiting_requests.map(({ request_id, model, target, waiting_ms }) => ({
      id: request_id,
      model,
      account: target ?? "",
      dialect: "",
      ms: waiting_ms,
      waits: true,
    })),
  ];
}

/** Lists the running and the waiting requests. */
export function LeaseTable({ queue, names }: SlotsProps) {
  const requests = queue === null ? [] : listRequests(queue);
  const more = queue === null ? 0 : queue.in_use + queue.waiting - requests.length;
  return (
    <Panel folds title={texts.activeRequests}>
      <DataTable
        items={requests}
        keyOf={({ id, waits }) => `${id}${waits}`}
        columns={createColumns(names)}
        empty={<p class="muted">{texts.noActiveRequests}</p>}
      />
      {more > 0 && <p class="muted">{texts.andMore(formatCount(more))}</p>}
    </Panel>
  );
}
