import { useSignal } from '@preact/signals';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { bound } from '../../../part/setter.js';
import { confirmWrite } from '../../part/confirm.js';
import { type Choice, Combobox } from '../../part/field/combobox.js';
import { reloadAll } from '../../use-loaded.js';

interface AddByKeyProps {
	readonly title: string;
	readonly label: string;
	readonly propose: (text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
	/** Returns the confirmation's text, which explains the effect. */
	readonly text: (key: string) => string;
	readonly add: (key: string) => Promise<unknown>;
}

/** Form that adds an object by its key, with suggestions from the server. */
export function AddByKey({ title, label, propose, text, add }: AddByKeyProps) {
	const key = useSignal('');
	const work = useWork();
	const send = async () => {
		const added = key.value;
		if (!(await confirmWrite(title, text(added)))) return;
		await add(added);
		announce(`Added ${added}.`);
		key.value = '';
		reloadAll();
	};
	return (
		<details class="directory-write">
			<summary>{title}</summary>
			<form onSubmit={work.submit(send)}>
				<Combobox label={label} {...bound(key)} required propose={propose} />
				<SubmitButton work={work}>{title}</SubmitButton>
			</form>
			<Failure text={work.failure} />
		</details>
	);
}
