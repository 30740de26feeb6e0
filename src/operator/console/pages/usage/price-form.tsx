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
  const [cacheRead, setCacheRead] = useState(formatPrice(price?.cache_read ?? price?.cached_input));
  const [cacheWrite5m, setCacheWrite5m] = useState(formatPrice(price?.cache_write_5m));
  const [cacheWrite1h, setCacheWrite1h] = useState(formatPrice(price?.cache_write_1h));
  const [output, setOutput] = useState(formatPrice(price?.output));
  return (
    <FormDialog
      title={model === "" ? "Add price" : "Change price"}
      action="Save price"
      submit={() =>
        onSave(name.trim(), {
          input: Number(input),
          ...(cacheRead.trim() !== "" && { cache_read: Number(cacheRead) }),
          ...(cacheWrite5m.trim() !== "" && { cache_write_5m: Number(cacheWrite5m) }),
          ...(cacheWrite1h.trim() !== "" && { cache_write_1h: Number(cacheWrite1h) }),
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
        label="Output (per million tokens)"
        type="number"
        min={0}
        value={output}
        onChange={setOutput}
        required
      />
      <TextField
        label="Cache read (per million tokens)"
        type="number"
        min={0}
        value={cacheRead}
        onChange={setCacheRead}
        hint="Empty: the input price."
      />
      <TextField
        label="Cache write, 5 minutes (per million tokens)"
        type="number"
        min={0}
        value={cacheWrite5m}
        onChange={setCacheWrite5m}
        hint="Empty: the input price. Also for writes without a stated lifetime."
      />
      <TextField
        label="Cache write, 1 hour (per million tokens)"
        type="number"
        min={0}
        value={cacheWrite1h}
        onChange={setCacheWrite1h}
        hint="Empty: the price for 5 minutes."
      />
    </FormDialog>
  );
}
