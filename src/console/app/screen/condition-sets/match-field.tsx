import type { ComponentChildren } from 'preact';
import type { MatchOperand } from '../../../model/condition/match-operand.js';

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

/** Operand with conditions on the fields of objects, or on attributes of related instances. */
export function MatchField({ operand: { related }, resources, isKey, onRelated, children }: MatchFieldProps) {
	const offered =
		related === null || related === '' || resources.includes(related) ? resources : [...resources, related];
	return (
		<>
			{offered.length > 0 && (
				<label>
					<span>Related resource</span>
					<select
						value={related ?? ''}
						aria-invalid={isKey && related === ''}
						onChange={(event) => onRelated(event.currentTarget.value || (isKey ? '' : null))}
					>
						<option value="">{isKey ? 'Choose a resource' : 'Fields of the attribute'}</option>
						{offered.map((one) => (
							<option key={one} value={one}>
								Instances of {one}
							</option>
						))}
					</select>
				</label>
			)}
			<div class="whole">{children}</div>
		</>
	);
}
