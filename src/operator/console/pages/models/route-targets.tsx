import { useId, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { useFieldError } from "../../ui/forms/form-errors.ts";
import { words } from "../../ui/words.ts";
import { addTarget, moveTarget, type TargetDraft } from "./route-draft.ts";
import { RoutePreview } from "./route-preview.tsx";
import type { Strategy } from "./route-text.ts";
import { texts } from "./texts.ts";

interface RouteTargetsProps {
  readonly targets: readonly TargetDraft[];
  /** Names to choose from. Others can be typed. */
  readonly models: readonly string[];
  /** Whether weights can be set. */
  readonly hasWeights: boolean;
  readonly strategy: Strategy;
  readonly onChange: (targets: readonly TargetDraft[]) => void;
}

/** The models of a route in their order: rows that can be dragged, or moved by buttons. */
export function RouteTargets({
  targets,
  models,
  hasWeights,
  strategy,
  onChange: onEdited,
}: RouteTargetsProps) {
  const id = useId();
  const { error = "", onInput } = useFieldError("models", words.models, undefined);
  const [dragged, setDragged] = useState<number | null>(null);
  const onChange = (edited: readonly TargetDraft[]) => {
    onInput();
    onEdited(edited);
  };
  const change = (index: number, changes: Partial<TargetDraft>) =>
    onChange(targets.map((target, other) => (other === index ? { ...target, ...changes } : target)));
  const move = (from: number, to: number) => onChange(moveTarget(targets, from, to));
  return (
    <fieldset class="stack">
      <legend>{words.models}</legend>
      {hasWeights && <p class="hint">{texts.modelsHint}</p>}
      <datalist id={`${id}-models`}>
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <ol class="route-targets">
        {targets.map(({ model, weight }, index) => (
          <li
            // The rows have no names of their own; an edited row keeps its place.
            key={index}
            class={dragged === index ? "dragged" : undefined}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== null) move(dragged, index);
              setDragged(null);
            }}
          >
            <span
              class="handle"
              title={texts.dragToMove}
              aria-hidden="true"
              draggable
              onDragStart={() => setDragged(index)}
              onDragEnd={() => setDragged(null)}
            >
              ⠿
            </span>
            <input
              class="mono"
              aria-label={texts.modelAt(index + 1)}
              aria-invalid={error !== "" || undefined}
              aria-describedby={error === "" ? undefined : `${id}-error`}
              list={`${id}-models`}
              value={model}
              placeholder="vllm/qwen3:8b"
              spellcheck={false}
              onInput={(event) => change(index, { model: event.currentTarget.value })}
            />
            {hasWeights && (
              <input
                type="number"
                class="weight"
                aria-label={texts.weightAt(index + 1)}
                placeholder={texts.weight}
                min={0}
                step="any"
                value={weight}
                onInput={(event) => change(index, { weight: event.currentTarget.value })}
              />
            )}
            <Button
              kind="quiet"
              label={texts.moveUp(index + 1)}
              disabled={index === 0}
              onClick={() => move(index, index - 1)}
            >
              ↑
            </Button>
            <Button
              kind="quiet"
              label={texts.moveDown(index + 1)}
              disabled={index === targets.length - 1}
              onClick={() => move(index, index + 1)}
            >
              ↓
            </Button>
            <Button
              kind="quiet"
              label={texts.removeModelAt(index + 1)}
              disabled={targets.length === 1}
              onClick={() => onChange(targets.toSpliced(index, 1))}
            >
              {words.remove}
            </Button>
          </li>
        ))}
      </ol>
      {error !== "" && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      <div class="row">
        <Button onClick={() => onChange(addTarget(targets))}>{texts.addModel}</Button>
      </div>
      <RoutePreview targets={targets} models={models} strategy={strategy} />
    </fieldset>
  );
}
