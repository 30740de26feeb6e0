import { useState } from "preact/hooks";
import type { Price } from "../../api/settings.ts";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

interface PriceFormProps {
  /** Empty: a new price. */
  readonly model: string;
  readonly price: Price | undefined;
  readonly onClose: () => void;
  readonly onSave: (model: string, price: Price) => Promise<void>;
}

const formatPrice = (value: number | undefined) => (value === undefined ? "" : String(value));

export function PriceForm({ model, price, onClose, onSave }: PriceFormProps) {
  const [name, setName] = useState(model);
  const [input, setInput] = useState(formatPrice(price?.input));
  const [cached, setCached] = useState(formatPrice(price?.cached_input));
  const [output, setOutput] = useState(formatPrice(price?.output));
  return (
    <FormDialog
      title={model === "" ? "Add price" : "Change price"}
      action="Save price"
      submit={() =>
        onSave(name.trim(), {
          input: Number(input),
          ...(cached.trim() !== "" && { cached_input: Number(cached) }),
          output: Number(output),
        })
      }
      onClose={onClose}
    >
      <TextField
        label="Model"
        value={name}
        onChange={setName}
        required
        mono
        focus
        hint="The model that answers, or the requested name."
      />
      <TextField
        label="Input (per million tokens)"
        type="number"
        min={0}
        value={input}
        onChange={setInput}
        required
      />
      <TextField
        label="Cached input (per million tokens)"
        type="number"
        min={0}
        value={cached}
        onChange={setCached}
        hint="Empty: the input price."
      />
      <TextField
        label="Output (per million tokens)"
        type="number"
        min={0}
        value={output}
        onChange={setOutput}
        required
      />
    </FormDialog>
  );
}
