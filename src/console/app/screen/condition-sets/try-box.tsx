import { useSignal } from '@preact/signals';
import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { jsonProblem } from '../../../model/json-problem.js';
import { management } from '../../api.js';
import { Combobox } from '../../part/field/combobox.js';
import { JsonField } from '../../part/field/json-field.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { proposeInstanceNames, proposeTenants, proposeUsers } from '../../propose.js';
import { useSideData } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { ConditionTrace } from './condition-trace.js';

/** Form values for trying a condition set. Each may be empty. */
interface Tried {
	readonly user: string;
	readonly user_attributes: string;
	readonly resource: string;
	readonly resource_attributes: string;
	readonly tenant: string;
	readonly context: string;
}

const untried: Tried = {
	user: '',
	user_attributes: '',
	resource: '',
	resource_attributes: '',
	tenant: '',
	context: '',
};

interface TryBoxProps {
	/** The condition set as a JSON request body. */
	readonly question: string;
	readonly type: ConditionSetValue['type'];
	readonly resource: string | null;
}

/** Tries the set on a user and an instance, even if they do not exist. The URL contains the tried values. */
export function TryBox({ question, type, resource }: TryBoxProps) {
	const search = useSearch();
	const asked = search.get('try');
	const form = useSignal<Tried>(readTried(asked));
	const isAskable = asked !== '' && (type === 'userset' || resource !== null);
	const loaded = useSideData(
		async (signal) => (isAskable ? evaluate(question, readTried(asked), signal) : null),
		[question, asked, isAskable],
	);
	const field = (name: keyof Tried) => ({
		value: form.value[name],
		onValue: (text: string) => {
			form.value = { ...form.value, [name]: text };
		},
	});
	const json = (name: keyof Tried) => ({
		text: form.value[name],
		onText: field(name).onValue,
	});
	const texts = [form.value.user_attributes, form.value.resource_attributes, form.value.context];
	const isWrong = texts.some((text) => text.trim() !== '' && jsonProblem(text) !== null);
	return (
		<section>
			<h2>Test</h2>
			<form
				class="condition-sets-try"
				onSubmit={(event) => {
					event.preventDefault();
					if (isWrong) return;
					search.set({ try: JSON.stringify(form.value) }, { replace: true });
					loaded.reload();
				}}
			>
				<Combobox label="User" {...field('user')} propose={proposeUsers} placeholder="None (attributes only)" />
				<JsonField label="User attributes" {...json('user_attributes')} />
				<Combobox
					label="Instance"
					{...field('resource')}
					propose={proposeInstanceNames}
					placeholder="None (attributes only)"
				/>
				<JsonField label="Instance attributes" {...json('resource_attributes')} />
				<Combobox label="Check tenant" {...field('tenant')} propose={proposeTenants} placeholder="All" />
				<JsonField label="Context" {...json('context')} />
				<button type="submit">Run test</button>
			</form>
			{isAskable && (
				<LoadedFrame loaded={loaded}>
					{(answer) =>
						answer !== null && (
							<>
								<p role="status">
									<strong class={answer.matches ? 'state good' : 'state bad'}>
										{answer.matches ? 'The set matches.' : 'The set does not match.'}
									</strong>
								</p>
								<ConditionTrace trace={answer.trace} />
								{answer.ancestors.map(({ key, trace }) => (
									<div key={key}>
										<h3>Parent set {key}</h3>
										<ConditionTrace trace={trace} />
									</div>
								))}
							</>
						)
					}
				</LoadedFrame>
			)}
		</section>
	);
}

function readTried(text: string): Tried {
	try {
		const given: Partial<Tried> = JSON.parse(text);
		const members = Object.entries(untried).map(([name, none]) => {
			const value: unknown = given[name as keyof Tried];
			return [name, typeof value === 'string' ? value : none] as const;
		});
		return { ...untried, ...Object.fromEntries(members) };
	} catch {
		return untried;
	}
}

function subject(key: string, attributes: string) {
	if (key === '' && attributes.trim() === '') return undefined;
	return { ...(key === '' ? {} : { key }), attributes: readAttributes(attributes) };
}

function readAttributes(text: string): Record<string, unknown> {
	return text.trim() === '' ? {} : JSON.parse(text);
}

async function evaluate(question: string, tried: Tried, signal: AbortSignal) {
	const user = subject(tried.user, tried.user_attributes);
	const resource = subject(tried.resource, tried.resource_attributes);
	const body = {
		...JSON.parse(question),
		...(user === undefined ? {} : { user }),
		...(resource === undefined ? {} : { resource }),
		...(tried.tenant === '' ? {} : { tenant: tried.tenant }),
		context: readAttributes(tried.context),
	};
	return management.post('/v2/schema/{proj_id}/{env_id}/condition_sets/evaluate', { body, signal });
}
