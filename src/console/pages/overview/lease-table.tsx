import type { QueueStatus } from "../../api/queue.ts";
import { count, duration } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";

const SHOWN = 50;

/** What runs and what waits at this moment. */
export function LeaseTable({ queue }: { readonly queue: QueueStatus | null }) {
  const running = (queue?.leases ?? []).map((lease) => ({ ...lease, ms: lease.age_ms, waits: false }));
  const waiting = (queue?.waiting_requests ?? []).map((request) => ({
    ...request,
    account: request.target ?? "",
    dialect: "",
    ms: request.waiting_ms,
    waits: true,
  }));
  const all = [...running, ...waiting];
  return (
    <Panel title="Requests right now">
      {all.length === 0 && <p class="muted">None. They appear here while they run or wait.</p>}
      {all.length > 0 && (
        <div class="table-box">
          <table>
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Model</th>
                <th scope="col">Account</th>
                <th scope="col">API style</th>
                <th scope="col">Request</th>
                <th scope="col" class="end">
                  For
                </th>
              </tr>
            </thead>
            <tbody>
              {all.slice(0, SHOWN).map(({ request_id, model, account, dialect, ms, waits }) => (
                <tr key={`${request_id}${waits}`}>
                  <td>{waits ? "waits" : "runs"}</td>
                  <td>{model}</td>
                  <td>{account || "any"}</td>
                  <td>{dialect || "–"}</td>
                  <td class="mono muted">{request_id}</td>
                  <td class="end tabular">{duration(ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all.length > SHOWN && <p class="muted">and {count(all.length - SHOWN)} more</p>}
    </Panel>
  );
}
