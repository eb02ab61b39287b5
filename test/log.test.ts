import test from 'ava';
import { pino } from 'pino';
import { logOptions } from '../src/log.js';

/** Error details in the log. */

function logged(error: unknown): { readonly line: string; readonly error: unknown } {
	const lines: string[] = [];
	const log = pino(logOptions('info'), { write: (line: string) => void lines.push(line) });
	log.error({ error }, 'an unexpected error');
	const line = lines.join('');
	return { line, error: (JSON.parse(line) as { readonly error: unknown }).error };
}

const carried = {
	query: "insert into users values ('ann@example.com')",
	params: ['ann@example.com'],
	bindings: [Buffer.from('a cipher')],
	detail: 'Key (email)=(ann@example.com) already exists.',
};

test('an error is logged with type, message, stack, code and causes, without other fields', (t) => {
	const native = Object.assign(new Error('duplicate key value'), { ...carried, code: '23505' });
	const error = Object.assign(new TypeError('outer', { cause: native }), { ...carried, nativeError: native });
	const { line, error: told } = logged(error);
	t.like(told, { type: 'TypeError', message: 'outer', cause: { message: 'duplicate key value', code: '23505' } });
	t.deepEqual(Object.keys(told as object), ['type', 'message', 'stack', 'cause']);
	t.notRegex(line, /ann@example|insert into|cipher/);
});

test('circular causes are cut, and thrown values that are not errors are logged unchanged', (t) => {
	const error = new Error('ring');
	error.cause = error;
	t.true(logged(error).line.length < 20_000);
	t.is(logged('words').error, 'words');
});
