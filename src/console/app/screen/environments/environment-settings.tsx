import { useSignal } from '@preact/signals';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { CheckField } from '../../../part/check-field.js';
import { Section } from '../../../part/section.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';

const switches = [
	{
		name: 'contextual_facts',
		title: 'Allow contextual facts in checks',
		about: 'Every application with this environment’s key can then add roles and relationships to its own checks.',
	},
] as const;

/** Settings of the environment that are either on or off. */
export function EnvironmentSettings() {
	const loaded = useLoaded((signal) => management.get('/v2/projects/{proj_id}/envs/{env_id}', { signal }), []);
	return (
		<Section id="settings" title="Settings">
			<LoadedFrame loaded={loaded}>
				{({ settings }) => (
					<SettingsForm key={JSON.stringify(settings)} settings={settings ?? {}} onSaved={loaded.reload} />
				)}
			</LoadedFrame>
		</Section>
	);
}

interface SettingsFormProps {
	readonly settings: Readonly<Record<string, unknown>>;
	readonly onSaved: () => void;
}

function SettingsForm({ settings, onSaved }: SettingsFormProps) {
	const edited = useSignal(settings);
	const work = useWork();
	const save = async () => {
		if (!(await confirmWrite('Save settings', 'These settings affect every check in the environment.'))) return;
		await management.patch('/v2/projects/{proj_id}/envs/{env_id}', { body: { settings: edited.value } });
		announce('Settings saved.');
		onSaved();
	};
	return (
		<form onSubmit={work.submit(save)}>
			{switches.map(({ name, title, about }) => (
				<div key={name}>
					<CheckField
						disabled={!mayWrite.value}
						checked={edited.value[name] === true}
						aria-describedby={`${name}-about`}
						onChecked={(checked) => {
							edited.value = { ...edited.value, [name]: checked };
						}}
					>
						{title}
					</CheckField>
					<br />
					<small id={`${name}-about`} class="quiet">
						{about}
					</small>
				</div>
			))}
			{mayWrite.value && (
				<SubmitButton work={work} secondary>
					Save settings
				</SubmitButton>
			)}
			<Failure text={work.failure} />
		</form>
	);
}
