import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import type { NamedRoute } from "../../api/routes.ts";
import type { Route } from "../../api/settings.ts";
import type { EntryVersion } from "../../ui/conflict.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toRoute, toTargets } from "./route-draft.ts";
import { RouteTargets } from "./route-targets.tsx";
import { findRouteFault, STRATEGIES, type Strategy } from "./route-text.ts";
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
  const [nameFault, setNameFault] = useState("");
  const [fault, setFault] = useState("");
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const newName = name.trim();
    const isTaken = props.taken.some((taken) => taken.toLowerCase() === newName.toLowerCase());
    const models = toRoute(isOrdered ? targets : targets.map(({ model }) => ({ model, weight: "" })));
    const noModel = models.length === 0;
    setNameFault(isTaken ? texts.routeExists : "");
    setFault(noModel ? texts.enterModel : "");
    if (isTaken || noModel) throw new Error(texts.notSaved);
    try {
      await props.onSave({ name: newName, models, strategy }, ifMatch);
    } catch (thrown) {
      const error = findRouteFault(toMessage(thrown), newName);
      if (error === null) throw thrown;
      setFault(error);
      throw new Error(texts.notSavedFixModels);
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
        error={nameFault}
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
        hint={isOrdered ? "" : texts.strategyHint}
      />
      <RouteTargets
        targets={targets}
        hasWeights={isOrdered}
        models={props.models}
        error={fault}
        onChange={setTargets}
      />
    </FormDialog>
  );
}
