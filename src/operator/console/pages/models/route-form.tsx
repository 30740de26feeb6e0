import { useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import type { NamedRoute } from "../../api/routes.ts";
import type { Route } from "../../api/settings.ts";
import type { EntryVersion } from "../../ui/conflict.tsx";
import { AreaField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { findRouteFault, formatRoute, parseRoute } from "./route-text.ts";

interface RouteFormProps {
  /** Empty: a new route. */
  readonly name: string;
  readonly route: Route;
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
  const [models, setModels] = useState(formatRoute(props.route));
  const [nameFault, setNameFault] = useState("");
  const [fault, setFault] = useState("");
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const newName = name.trim();
    const isTaken = props.taken.some((taken) => taken.toLowerCase() === newName.toLowerCase());
    const noModel = parseRoute(models).length === 0;
    setNameFault(isTaken ? "There is a route of this name." : "");
    setFault(noModel ? "A route leads to one model at least." : "");
    if (isTaken || noModel) throw new Error("Nothing was saved.");
    try {
      await props.onSave({ name: newName, models: parseRoute(models) }, ifMatch);
    } catch (thrown) {
      const error = findRouteFault(toMessage(thrown), newName);
      if (error === null) throw thrown;
      setFault(error);
      throw new Error("Not saved. Fix: Models.");
    }
    onSucceeded();
    await props.onSaved();
  };
  return (
    <FormDialog
      title={props.name === "" ? "Add route" : "Change route"}
      action="Save route"
      submit={submit}
      version={props.version}
      onClose={props.onClose}
    >
      <TextField
        label="Requested name"
        value={name}
        error={nameFault}
        onChange={setName}
        required
        mono
        focus
        hint="The name in requests. A route takes precedence over an alias or a model with the same name."
      />
      <AreaField
        label="Models"
        value={models}
        error={fault}
        onChange={setModels}
        mono
        rows={5}
        placeholder={"vllm/qwen3:8b\nprovider-v4-pro"}
        hint="One per line: a model name, provider/model or an alias. The first available one answers. To distribute conversations, add weights: vllm/qwen3:8b 3."
      />
    </FormDialog>
  );
}
