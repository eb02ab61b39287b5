import { useSignal } from '@preact/signals';
import { type DurationUnit, durationUnits, splitDuration } from '../model/instants.js';

interface DurationFieldProps {
	readonly label: string;
	/** Duration in seconds; `null` for an empty field. */
	readonly seconds: number | null;
	readonly onSeconds: (seconds: number | null) => void;
	readonly required?: boolean;
	/** Subject of the duration, for screen readers, if the page has several of these fields. */
	readonly subject?: string | undefined;
}

const units = Object.keys(durationUnits) as readonly DurationUnit[];

/** Number with a unit, such as 8 hours. */
export function DurationField({ label, seconds, onSeconds, required = false, subject }: DurationFieldProps) {
	const name = subject === undefined ? label : `${label}: ${subject}`;
	const chosen = useSignal<DurationUnit | null>(null);
	const split = seconds === null ? null : splitDuration(seconds);
	const unit = chosen.value ?? split?.unit ?? 'hours';
	const count = seconds === null ? null : seconds / durationUnits[unit];
	return (
		<div class="duration">
			<label>
				<span>{label}</span>
				<input
					type="number"
					aria-label={subject && name}
					min="1"
					step="any"
					required={required}
					value={count === null ? '' : String(count)}
					onInput={({ currentTarget: { valueAsNumber } }) => {
						chosen.value = unit;
						onSeconds(Number.isNaN(valueAsNumber) ? null : Math.round(valueAsNumber * durationUnits[unit]));
					}}
				/>
			</label>
			<select
				aria-label={`${name}: unit`}
				value={unit}
				onChange={(event) => {
					const next = units.find((one) => one === event.currentTarget.value) ?? unit;
					chosen.value = next;
					if (count !== null) onSeconds(Math.round(count * durationUnits[next]));
				}}
			>
				{units.map((one) => (
					<option key={one} value={one}>
						{one}
					</option>
				))}
			</select>
		</div>
	);
}
