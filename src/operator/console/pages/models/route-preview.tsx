import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { resolveModel } from "../../api/models.ts";
import { checkTarget, type KnownModels, readKnownModels } from "../../shared/check-target.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { OrderLines, type OrderText, readOrderText } from "./order-lines.tsx";
import { type TargetDraft, toRoute } from "./route-draft.ts";
import { readRoute, type Strategy } from "./route-text.ts";
import { texts } from "./texts.ts";

interface PreviewLine {
  readonly isKnown: boolean;
  readonly text: string;
}

async function describeTarget(name: string, known: KnownModels): Promise<PreviewLine> {
  const resolved = await resolveModel(name).catch(toMessageOf);
  if (typeof resolved !== "string") return { isKnown: false, text: `${name}: ${resolved.message}` };
  const { isKnown, problem } = await checkTarget(name, resolved, known);
  return { isKnown, text: isKnown ? texts.servedBy(name, resolved) : `${name}: ${problem}` };
}

const toMessageOf = (error: unknown) => ({ message: toMessage(error) });

interface RoutePreviewProps {
  readonly targets: readonly TargetDraft[];
  /** Names that the gateway lists. */
  readonly models: readonly string[];
  readonly strategy: Strategy;
}

/** Shows which model each row of a route resolves to, and which names no model has. */
export function RoutePreview({ targets, models, strategy }: RoutePreviewProps) {
  const [lines, setLines] = useState<readonly PreviewLine[]>([]);
  const [order, setOrder] = useState<OrderText | null>(null);
  const { busy, error, run } = useAsyncAction();
  const preview = async () => {
    const known = await readKnownModels(models);
    const route = toRoute(targets);
    const names = route.map((target) => (typeof target === "string" ? target : target.model));
    // The weights of other orders do not count.
    const ordered = strategy === "order" ? route : names;
    setOrder(
      names.length < 2
        ? null
        : await readOrderText(readRoute(strategy === "order" ? ordered : { strategy, models: [...ordered] })),
    );
    setLines(await Promise.all(names.map((name) => describeTarget(name, known))));
  };
  return (
    <div class="stack">
      <div class="row">
        <Button busy={busy} onClick={() => void run(preview)}>
          {texts.preview}
        </Button>
      </div>
      <Problem error={error} />
      <ol aria-live="polite" class="preview-lines">
        {lines.map(({ isKnown, text }, index) => (
          <li key={`${index} ${text}`}>
            <Badge tone={isKnown ? "good" : "bad"}>{isKnown ? texts.knownWord : texts.unknownWord}</Badge>{" "}
            {text}
          </li>
        ))}
      </ol>
      <OrderLines order={order} />
    </div>
  );
}
