import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import type { NamedRoute } from "../../api/routes.ts";
import type { Route } from "../../api/settings.ts";
import type { EntryVersion } from "../../ui/forms/conflict.tsx";
import { SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { InvalidInput, rejectFaults } from "../../ui/forms/form-errors.ts";
import { toRoute, toTargets } from "./route-draft.ts";
import { RouteTargets } from "./route-targets.tsx";
import { findRouteFault, STRATEGIES, STRATEGY_HINTS, type Strategy } from "./route-text.ts";
import { texts } from "./texts.ts";

interface RouteFormProps {
  /** Empty: a new route. */
  readonly name: string;
  readonly route: Route;
  readonly strategy: Strategy;
  /** Names of models to choose from. */
  readonly models: readonly string[];
  /** Names of the other routes. */
  readonly taken: readonly string[];
  /** undefined: a new route. */
  readonly version?: EntryVersion;
  readonly onClose: () => void;
  readonly onSave: (route: NamedRoute, ifMatch: string | undefined) => Promise<unknown>;
  readonly onSaved: () => Promise<void>;
}

/** Form for a route: its name and its models. */
export function RouteForm(props: RouteFormProps) {
  const [name, setName] = useState(props.name);
  const [targets, setTargets] = useState(() => toTargets(props.route));
  const [strategy, setStrategy] = useState(props.strategy);
  const isOrdered = strategy === "order";
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const newName = name.trim();
    const isTaken = props.taken.some((taken) => taken.toLowerCase() === newName.toLowerCase());
    const models = toRoute(isOrdered ? targets : targets.map(({ model }) => ({ model, weight: "" })));
    rejectFaults({
      ...(isTaken && { name: texts.routeExists }),
      ...(models.length === 0 && { models: texts.enterModel }),
    });
    try {
      await props.onSave({ name: newName, models, strategy }, ifMatch);
    } catch (thrown) {
      const fault = findRouteFault(toMessage(thrown), newName);
      throw fault === null ? thrown : new InvalidInput({ models: fault });
    }
    onSucceeded();
    await props.onSaved();
  };
  return (
    <FormDialog
      title={props.name === "" ? texts.addRoute : texts.changeRoute}
      action={texts.saveRoute}
      submit={submit}
      version={props.version}
      onClose={props.onClose}
      wide
    >
      <TextField
        label={texts.requestedName}
        value={name}
        path="name"
        onChange={setName}
        required
        mono
        focus
        hint={texts.routeNameHint}
      />
      <SelectField
        label={texts.orderOfModels}
        value={strategy}
        choices={STRATEGIES}
        onChange={(value) => setStrategy(STRATEGIES.find(([known]) => known === value)?.[0] ?? "order")}
        hint={STRATEGY_HINTS[strategy]}
      />
      <RouteTargets
        targets={targets}
        hasWeights={isOrdered}
        strategy={strategy}
        models={props.models}
        onChange={setTargets}
      />
    </FormDialog>
  );
}
