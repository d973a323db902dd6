// A real browser on the console, watched: whatever it complains of, and whatever it asks of another host, is kept.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from '../clients/node_modules/playwright-core/index.mjs';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const require = createRequire(import.meta.url);

const canRun = (file) => { try { fs.accessSync(file, fs.constants.X_OK); return true; } catch { return false; } };

/** Debian's chromium, or what `CHROMIUM` names; none where there is none that can be run. */
export const chromiumBinary = () => [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => file && canRun(file));

/** With a profile of its own, which goes with it. */
export const openBrowser = () => chromium.launch({ executablePath: chromiumBinary(), headless: true, args: FLAGS });

/** A page that belongs to nobody yet. `complaints` is what went wrong on it. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.complaints.push(`${message.type()}: ${message.text()} ${new URL(message.location().url || url).pathname}`); });
  page.on('pageerror', (error) => page.complaints.push(`exception: ${error.message}`));
  page.on('dialog', async (dialog) => { page.complaints.push(`dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== 'blob:' && asked.origin !== url) page.complaints.push(`request to ${asked.origin}`);
    if (page.secret && request.url().includes(page.secret)) page.complaints.push('the key stands in a URL');
  });
  await page.exposeFunction('headwaterViolation', (text) => page.complaints.push(`policy: ${text}`));
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => window.headwaterViolation(`${event.violatedDirective} ${event.blockedURI}`)));
  if (process.env.HEADWATER_CONSOLE_FILES) await fromFolder(page, process.env.HEADWATER_CONSOLE_FILES);
  page.base = url;
  return page;
}

/** For whoever changes a page: its files come from a folder, so that nothing has to be built in between. */
async function fromFolder(page, folder) {
  const kinds = { js: 'text/javascript', css: 'text/css' };
  await page.route(/\/console\/[a-z_]+\.(js|css)$/, (route) => {
    const name = new URL(route.request().url()).pathname.split('/').pop();
    return route.fulfill({ body: fs.readFileSync(path.join(folder, name)), contentType: kinds[name.split('.').pop()] });
  });
}

export async function logIn(page, key) {
  page.secret = key;
  await page.goto(`${page.base}/`);
  await page.fill('input[name=key]', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('nav[aria-label=Pages]');
}

/** Goes to a place in the console. `answers` are paths whose answers are waited for and given back. */
export async function visit(page, hash, ...answers) {
  const waiting = answers.map((wanted) => page.waitForResponse((response) => response.request().method() !== 'OPTIONS' && new URL(response.url()).pathname.includes(wanted)));
  const current = await page.evaluate(() => location.hash);
  if (current === hash) await page.reload(); else await page.evaluate((to) => { location.hash = to; }, hash);
  return Promise.all(waiting.map(async (response) => (await response).json()));
}

let axeSource = null;
/** What axe-core finds that is serious, one line each. */
export async function seriousFaults(page) {
  axeSource ??= fs.readFileSync(require.resolve('../clients/node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  return serious.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} ${(node.any[0]?.message ?? '').slice(0, 160)}`).join(' | ')}`);
}

/** By how many pixels the page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
