// SPDX-License-Identifier: BSD-2-Clause
// speedscope_page.js NODE_MODULES_PARENT FILE: opens it with speedscope itself, in
// a headless Chromium, from a server on loopback; prints each function of its
// sandwich view with what it says of it. Exit status 4: there is no Chromium.
const fs = require('fs')
const http = require('http')
const path = require('path')
const { Browser, find } = require('../page/browser.js')

const [, , folder, file] = process.argv
const root = path.join(path.resolve(folder), 'node_modules/speedscope/dist/release')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

function answer(request, response) {
  const name = request.url.split('?')[0]
  const there = fs.readdirSync(root)
  const asked = name === '/' ? 'index.html' : name.slice(1)

  if (name !== '/profile.json' && !there.includes(asked))
    return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': types[path.extname(asked)] || 'text/plain' })
  fs.createReadStream(name === '/profile.json' ? file : path.join(root, asked))
    .pipe(response)
}

async function until(browser, expression) {
  for (let tries = 0; tries < 600; tries++) {
    const value = await browser.evaluate(expression)

    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`speedscope never came to ${expression}; it says: ` +
    browser.said.join(' | ') + await browser.evaluate('document.body.innerText'))
}

const ROWS = `[...document.querySelectorAll('table tr')]
  .map((row) => [...row.cells].map((cell) => cell.innerText.trim()).join('\\t'))`

const ANY_DRAWN = `${ROWS}.some((row) => /^[0-9.]+(n|µ|m)?s .*\\t.*\\t/.test(row))`

// The list is drawn behind its head: its rows, once a second look finds the same.
async function settled(browser) {
  for (let before = ''; ;) {
    await until(browser, ANY_DRAWN)
    const rows = await browser.evaluate(ROWS)

    if (rows.join('\n') === before) return rows
    before = rows.join('\n')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function main(port) {
  const program = find()

  if (!program) return 4
  const browser = new Browser(program)
  const profile = encodeURIComponent(`http://127.0.0.1:${port}/profile.json`)

  try {
    await browser.open(`http://127.0.0.1:${port}/#profileURL=${profile}`)
    await until(browser, '/view|Unrecognized|Error/.test(document.body.innerText)')
    await browser.key('3')
    await until(browser, "/Symbol Name/.test(document.body.innerText)")
    const rows = await settled(browser)

    console.log(rows.join('\n'))
    const bad = browser.said.filter((words) =>
      /error|exception|unrecognized/i.test(words))

    bad.forEach((words) => console.error(words))
    return bad.length ? 1 : 0
  } finally {
    await browser.close()
  }
}

const server = http.createServer(answer).listen(0, '127.0.0.1', () =>
  main(server.address().port).then(
    (status) => process.exit(status),
    (error) => {
      console.error(error)
      process.exit(1)
    }))
