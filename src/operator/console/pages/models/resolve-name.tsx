import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { resolveModel } from "../../api/models.ts";
import type { StoredRoute } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { OrderLines, type OrderText, readOrderText } from "./order-lines.tsx";
import { findRoute, readRoute, summarizeRoute } from "./route-text.ts";
import { texts } from "./texts.ts";

interface ResolveNameProps {
  readonly routes: Readonly<Record<string, StoredRoute>>;
}

interface NameAnswer {
  readonly text: string;
  /** The models of a route in their order; null for anything else. */
  readonly order: OrderText | null;
}

async function lookUpName(
  requested: string,
  routes: Readonly<Record<string, StoredRoute>>,
): Promise<NameAnswer> {
  if (requested === "") return { text: "", order: null };
  try {
    const id = await resolveModel(requested);
    const stored = findRoute(routes, id);
    if (stored === undefined) return { text: texts.servedBy(requested, id), order: null };
    return {
      text: texts.servedByRoute(requested, summarizeRoute(stored)),
      order: await readOrderText(readRoute(stored)),
    };
  } catch (error) {
    return { text: toMessage(error), order: null };
  }
}

/** Shows which model a name resolves to. For a route, it shows the models of the route. */
export function ResolveName({ routes }: ResolveNameProps) {
  const [name, setName] = useState("");
  const [requested, setRequested] = useState("");
  // A saved route may change the answer.
  const key = JSON.stringify([requested, routes]);
  const answer = useLoaded(() => lookUpName(requested, routes), key);
  const submit = () => {
    const next = name.trim();
    if (next === requested) void answer.reload();
    else setRequested(next);
  };
  return (
    <Panel title={texts.lookUpTitle}>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
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
        <Button type="submit" busy={answer.loading}>
          {texts.lookUp}
        </Button>
        <p aria-live="polite">{answer.data?.text}</p>
      </form>
      <OrderLines order={answer.data?.order ?? null} />
    </Panel>
  );
}
