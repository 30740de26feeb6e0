import { useEffect, useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { resolveModel } from "../../api/models.ts";
import type { StoredRoute } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { OrderLines, type OrderText, readOrderText } from "./order-lines.tsx";
import { findRoute, readRoute, summarizeRoute } from "./route-text.ts";
import { texts } from "./texts.ts";

interface ResolveNameProps {
  readonly routes: Readonly<Record<string, StoredRoute>>;
}

/** Shows which model a name resolves to. For a route, it shows the models of the route. */
export function ResolveName({ routes }: ResolveNameProps) {
  const [name, setName] = useState("");
  /** The name of the answer; empty: there is none. */
  const [resolved, setResolved] = useState("");
  const [answer, setAnswer] = useState("");
  const [order, setOrder] = useState<OrderText | null>(null);
  const [busy, setBusy] = useState(false);
  const resolve = async (requested: string) => {
    setBusy(true);
    setOrder(null);
    setResolved(requested);
    try {
      const id = await resolveModel(requested);
      const stored = findRoute(routes, id);
      setAnswer(
        stored === undefined
          ? texts.servedBy(requested, id)
          : texts.servedByRoute(requested, summarizeRoute(stored)),
      );
      if (stored !== undefined) setOrder(await readOrderText(readRoute(stored)));
    } catch (error) {
      setAnswer(toMessage(error));
    }
    setBusy(false);
  };
  // A saved route may change the answer.
  useEffect(() => {
    if (resolved !== "") void resolve(resolved);
  }, [routes]);
  return (
    <Panel title={texts.lookUpTitle}>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          void resolve(name.trim());
        }}
      >
        <TextField
          label={texts.requestedName}
          value={name}
          onChange={setName}
          required
          mono
          placeholder="gpt-4o"
        />
        <Button type="submit" busy={busy}>
          {texts.lookUp}
        </Button>
        <p aria-live="polite">{answer}</p>
      </form>
      <OrderLines order={order} />
    </Panel>
  );
}
