// Asks for the key. It goes to the server in the body of one request and is kept nowhere in the browser.
import { session } from './api.js';
import { h, put } from './dom.js';
import { busy, button, field, notice } from './ui.js';

export function logIn(root, message, onSession) {
  const key = h('input', { type: 'password', name: 'key', required: true, autocomplete: 'off', spellcheck: 'false', autofocus: true });
  const problem = h('div', {});
  const submit = button('Log in', null, { kind: 'primary', type: 'submit' });
  const form = h('form', {},
    field('API key', key, 'Admins see everything, other keys what is theirs.'), submit, problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const found = await busy(submit, problem, () => session.logIn(key.value));
    key.value = '';
    if (found) onSession(found); else key.focus();
  });
  put(root, h('main.login', {},
    h('div.login-card', {},
      h('div.brand', {}, h('img', { src: '/console/icon.svg', alt: '', width: 32, height: 32 }), h('span', {}, 'Headwater')),
      h('h1', {}, 'Log in'),
      message && notice('warn', message),
      form,
      h('p.muted.small', {}, 'No key yet? This makes one:', h('br'), h('code', {}, 'headwater keys create --admin')))));
  key.focus();
}
