import type { Signal } from '@preact/signals';

/** Form field for a few sentences. */
export function LongText({ label, text }: { readonly label: string; readonly text: Signal<string> }) {
	return (
		<label>
			<span>{label}</span>
			<textarea
				rows={2}
				maxLength={2000}
				value={text.value}
				onInput={(event) => {
					text.value = event.currentTarget.value;
				}}
			/>
		</label>
	);
}
