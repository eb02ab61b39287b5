import { useSignal } from '@preact/signals';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { management } from '../../api.js';
import { CodeText } from '../../part/code/code-text.js';
import { confirmWrite } from '../../part/confirm.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';

/** Origins that may embed elements, and the location of the application's token keys. */
export function EnvironmentOrigins() {
	const loaded = useLoaded((signal) => management.get('/v2/projects/{proj_id}/envs/{env_id}', { signal }), []);
	return (
		<>
			<h2>Allowed origins</h2>
			<LoadedFrame loaded={loaded}>
				{({ settings, jwks }) => (
					<>
						<OriginsForm key={JSON.stringify(settings)} settings={settings ?? {}} onSaved={loaded.reload} />
						<h3>Token keys (JWKS)</h3>
						{jwks === null || jwks === undefined ? (
							<p class="quiet">None. Users sign in only through the application’s backend.</p>
						) : (
							<CodeText>{JSON.stringify(jwks, null, 2)}</CodeText>
						)}
					</>
				)}
			</LoadedFrame>
		</>
	);
}

interface OriginsFormProps {
	readonly settings: Readonly<Record<string, unknown>>;
	readonly onSaved: () => void;
}

function OriginsForm({ settings, onSaved }: OriginsFormProps) {
	const stored = settings['elements_origins'];
	const text = useSignal((Array.isArray(stored) ? stored : []).join('\n'));
	const work = useWork();
	const save = async () => {
		if (!(await confirmWrite('Save origins', 'Pages from these origins can embed the elements.'))) return;
		const elements_origins = text.value.split(/\s+/).filter((origin) => origin !== '');
		const body = { settings: { ...settings, elements_origins } };
		await management.patch('/v2/projects/{proj_id}/envs/{env_id}', { body });
		announce('Origins saved.');
		onSaved();
	};
	return (
		<form onSubmit={work.submit(save)}>
			<label>
				<span>Origins, one per line, such as https://app.example.com</span>
				<textarea
					class="code"
					rows={3}
					readOnly={!mayWrite.value}
					spellcheck={false}
					value={text.value}
					onInput={(event) => {
						text.value = event.currentTarget.value;
					}}
				/>
			</label>
			{mayWrite.value && (
				<SubmitButton work={work} secondary>
					Save
				</SubmitButton>
			)}
			<Failure text={work.failure} />
		</form>
	);
}
