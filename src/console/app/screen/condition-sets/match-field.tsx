import type { ComponentChildren } from 'preact';
import type { MatchOperand } from '../../../model/condition/match-operand.js';
import { SelectField } from '../../../part/select-field.js';

interface MatchFieldProps {
	readonly operand: MatchOperand;
	/** Keys of the resources whose instances can be related. */
	readonly resources: readonly string[];
	/** True if the attribute can only be the key of an instance. */
	readonly isKey: boolean;
	readonly onRelated: (related: string | null) => void;
	/** The conditions in `match`. */
	readonly children: ComponentChildren;
}

/** Operand with conditions on object fields, or on attributes of related instances. */
export function MatchField({ operand: { related }, resources, isKey, onRelated, children }: MatchFieldProps) {
	const offered =
		related === null || related === '' || resources.includes(related) ? resources : [...resources, related];
	return (
		<>
			{offered.length > 0 && (
				<SelectField
					label="Related resource"
					value={related ?? ''}
					aria-invalid={isKey && related === ''}
					empty={isKey ? 'Choose a resource' : 'Fields of the attribute'}
					options={offered.map((one) => [one, `Instances of ${one}`])}
					onValue={(value) => onRelated(value || (isKey ? '' : null))}
				/>
			)}
			<div class="whole">{children}</div>
		</>
	);
}
