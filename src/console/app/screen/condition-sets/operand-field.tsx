import { useEffect, useId, useRef, useState } from 'preact/hooks';
import {
	type AttributeType,
	firstOperand,
	type OperandForm,
	operandForm,
	operandForms,
	operandText,
	readOperandText,
} from '../../../model/condition/condition-operator.js';
import type { Json } from '../../../model/json.js';
import { SelectField } from '../../../part/select-field.js';
import { type Choice, Combobox } from '../../part/field/combobox.js';

interface OperandFieldProps {
	readonly operator: string;
	readonly type: AttributeType | null;
	readonly operand: Json;
	/** True if the operand cannot be an attribute. */
	readonly isLiteral: boolean;
	/** True in grant conditions, whose operands are usually the grant's values. */
	readonly isOfGrant: boolean;
	readonly onOperand: (operand: Json) => void;
	readonly proposeAttribute: (text: string) => Promise<readonly Choice[]>;
}

const formNames: Readonly<Record<OperandForm, string>> = {
	text: 'Text',
	number: 'Number',
	boolean: 'Boolean',
	texts: 'Text list',
	numbers: 'Number list',
	ref: 'Attribute',
	json: 'JSON',
};

/** Comparison operand: a value in a suitable form, or an attribute. */
export function OperandField(props: OperandFieldProps) {
	const { operator, type, operand, isLiteral, isOfGrant, onOperand, proposeAttribute } = props;
	const forms = operandForms(operator, type).filter((form) => form !== 'ref' || !isLiteral);
	const [chosen, setChosen] = useState<OperandForm | null>(null);
	const wanted =
		chosen !== null && holds(chosen, operand) ? chosen : forms.find((form) => form !== 'json' && holds(form, operand));
	const current = wanted ?? operandForm(operand);
	const offered = forms.includes(current) ? forms : [...forms, current];
	return (
		<>
			{offered.length > 1 && (
				<SelectField
					label="Compare with"
					value={current}
					options={offered.map((one) => [one, formNames[one]])}
					onValue={(next) => {
						setChosen(next);
						if (!holds(next, operand)) onOperand(firstOperand(next, operator));
					}}
				/>
			)}
			{current === 'ref' ? (
				<Combobox
					label="Attribute to compare"
					value={operandText(operand)}
					onValue={(text) => onOperand({ ref: text })}
					propose={proposeAttribute}
					placeholder={isOfGrant ? 'grant.limit' : 'resource.team'}
				/>
			) : current === 'boolean' ? (
				<SelectField
					label="Value"
					value={String(operand)}
					options={{ true: 'yes', false: 'no' }}
					onValue={(value) => onOperand(value === 'true')}
				/>
			) : (
				<TextOperand
					key={current}
					form={current}
					operand={operand}
					onOperand={onOperand}
					isRange={operator === 'between'}
				/>
			)}
		</>
	);
}

/** True if a form can represent an operand unchanged. An empty array fits both list forms. */
function holds(form: OperandForm, operand: Json): boolean {
	const shown = operandForm(operand);
	if (form === 'json' || form === shown) return true;
	return form === 'numbers' && Array.isArray(operand) && operand.length === 0;
}

interface TextOperandProps {
	readonly form: OperandForm;
	readonly operand: Json;
	readonly onOperand: (operand: Json) => void;
	readonly isRange: boolean;
}

/** Field that keeps the typed text even while it is not a valid value. */
function TextOperand({ form, operand, onOperand, isRange }: TextOperandProps) {
	const [text, setText] = useState(() => operandText(operand, form));
	/**
	 * Last operand reported by this field. If the current operand differs, the change came from outside, such as from
	 * the JSON side.
	 */
	const said = useRef(operand);
	useEffect(() => {
		if (JSON.stringify(said.current) === JSON.stringify(operand)) return;
		said.current = operand;
		setText(operandText(operand, form));
	}, [operand, form]);
	const isWrong = readOperandText(form, text) === undefined;
	const onInput = (next: string) => {
		setText(next);
		const read = readOperandText(form, next);
		if (read === undefined) return;
		said.current = read;
		onOperand(read);
	};
	const id = useId();
	const isLong = form === 'texts' || form === 'numbers' || form === 'json';
	return (
		<div class={form === 'json' ? 'condition-sets-field whole' : 'condition-sets-field'}>
			<label for={id}>{isRange && isLong ? 'From and to' : 'Value'}</label>
			{isLong ? (
				<textarea
					id={id}
					class="code"
					rows={form === 'json' ? 2 : Math.min(8, Math.max(2, text.split('\n').length))}
					spellcheck={false}
					placeholder={form === 'json' ? '' : isRange ? 'from and to, one per line' : 'one per line'}
					aria-invalid={isWrong}
					value={text}
					onInput={(event) => onInput(event.currentTarget.value)}
				/>
			) : (
				<input
					id={id}
					type="text"
					inputMode={form === 'number' ? 'decimal' : 'text'}
					autocomplete="off"
					spellcheck={false}
					aria-invalid={isWrong}
					value={text}
					onInput={(event) => onInput(event.currentTarget.value)}
				/>
			)}
			{isWrong && (
				<span class="failure" role="status">
					{form === 'number' ? 'Enter a number.' : form === 'numbers' ? 'Enter numbers.' : 'Invalid JSON.'}
				</span>
			)}
		</div>
	);
}
