import { useState } from "preact/hooks";
import type { Price } from "../../api/settings.ts";
import { FurtherPriceFields, parseFurtherPrices, toFurtherPrices } from "../../shared/further-prices.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

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
  const [further, setFurther] = useState(() => toFurtherPrices(price));
  return (
    <FormDialog
      title={model === "" ? texts.addPrice : texts.changePrice}
      action={texts.savePrice}
      submit={() =>
        onSave(name.trim(), {
          ...parseFurtherPrices(further),
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
        label={words.model}
        value={name}
        onChange={setName}
        required
        mono
        focus
        hint={texts.priceModelHint}
      />
      <TextField label={texts.inputPrice} type="number" min={0} value={input} onChange={setInput} required />
      <TextField
        label={texts.outputPrice}
        type="number"
        min={0}
        value={output}
        onChange={setOutput}
        required
      />
      <TextField
        label={texts.cacheReadPrice}
        type="number"
        min={0}
        value={cacheRead}
        onChange={setCacheRead}
        hint={texts.emptyInputPrice}
      />
      <TextField
        label={texts.cacheWrite5Minutes}
        type="number"
        min={0}
        value={cacheWrite5m}
        onChange={setCacheWrite5m}
        hint={texts.cacheWriteHint}
      />
      <TextField
        label={texts.cacheWrite1Hour}
        type="number"
        min={0}
        value={cacheWrite1h}
        onChange={setCacheWrite1h}
        hint={texts.cacheWrite1HourDefaultHint}
      />
      <FurtherPriceFields prices={further} onChange={setFurther} />
    </FormDialog>
  );
}
