import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { jsonProblem } from '../../../model/json-problem.js';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
import { confirmWrite } from '../../part/confirm.js';
import { Dialog } from '../../part/dialog.js';
import { DialogButton } from '../../part/dialog-button.js';
import { type Choice, Combobox } from '../../part/field/combobox.js';
import { JsonField } from '../../part/field/json-field.js';
import { readAttributes } from './attributes-form.js';

interface Field {
	readonly name: string;
	readonly label: string;
	readonly required?: boolean;
	readonly propose?: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
}

interface CreateObjectProps {
	readonly title: string;
	readonly fields: readonly Field[];
	/** True if the object has attributes. */
	readonly attributed?: boolean;
	/** Creates the object from the fields and returns its page address. */
	readonly create: (
		values: Readonly<Record<string, string>>,
		attributes: Readonly<Record<string, unknown>>,
	) => Promise<string>;
}

/** Button that opens a form for a new object. After creation, it opens the object's page. */
export function CreateObject(props: CreateObjectProps) {
	return <DialogButton text={`${props.title}…`}>{(close) => <CreateDialog {...props} onClose={close} />}</DialogButton>;
}

function CreateDialog({
	title,
	fields,
	attributed = true,
	create,
	onClose,
}: CreateObjectProps & { readonly onClose: () => void }) {
	const { route } = useLocation();
	const values = useSignal<Readonly<Record<string, string>>>({});
	const attributes = useSignal('');
	const work = useWork();
	const set = (name: string, value: string) => {
		values.value = { ...values.value, [name]: value };
	};
	const send = async () => {
		const given = Object.fromEntries(Object.entries(values.value).filter(([, value]) => value !== ''));
		const read = readAttributes(attributes.value);
		if (!(await confirmWrite(title, `Create ${given['key'] ?? ''}? This takes effect immediately.`))) return;
		const address = await create(given, read);
		announce(`Created ${given['key'] ?? ''}.`);
		onClose();
		route(address);
	};
	return (
		<Dialog title={title} onClose={onClose}>
			<form onSubmit={work.submit(send)}>
				{fields.map(({ name, label, required = false, propose }) =>
					propose === undefined ? (
						<TextField
							key={name}
							label={label}
							required={required}
							value={values.value[name] ?? ''}
							autocomplete="off"
							spellcheck={false}
							onValue={(text) => set(name, text)}
						/>
					) : (
						<Combobox
							key={name}
							label={label}
							required={required}
							value={values.value[name] ?? ''}
							onValue={(value) => set(name, value)}
							propose={propose}
						/>
					),
				)}
				{attributed && (
					<JsonField label="Attributes (JSON, optional)" text={attributes.value} onText={setter(attributes)} />
				)}
				<SubmitButton work={work} disabled={attributes.value.trim() !== '' && jsonProblem(attributes.value) !== null}>
					{title}
				</SubmitButton>
				<Failure text={work.failure} />
			</form>
		</Dialog>
	);
}
