"""Words by which `marks` guesses what an argument decides: words of its name, and of its tool's."""

from __future__ import annotations

RECIPIENTS = frozenset({
    "addressee", "addressees", "attendee", "attendees", "bcc", "beneficiary", "cc", "creditor", "iban", "invitee",
    "invitees", "mailto", "payee", "payees", "receiver", "receivers", "recipient", "recipients",
})  # fmt: skip
"""Who gets something, on whatever tool."""

RECIPIENTS_OF_WRITES = frozenset({
    "approver", "assignee", "assignees", "channel", "channels", "chat", "collaborator", "collaborators", "delegate",
    "email", "emails", "fax", "mail", "mobile", "msisdn", "phone", "phones", "subscriber", "subscribers", "successor",
    "tel", "telephone", "wallet", "whatsapp",
})  # fmt: skip
"""Who gets something, where a tool does something."""

WHO = frozenset({
    "account", "address", "contact", "contacts", "dest", "destination", "guest", "guests", "handle", "login", "member",
    "members", "number", "participant", "participants", "people", "person", "target", "targets", "user", "username",
    "users", "who", "whom", "with",
})  # fmt: skip
"""Who gets something, where a tool sends."""

PERSONS = frozenset({"contact", "contacts", "customer", "member", "members", "people", "person", "user", "users"})

OF_AN_ADDRESS = frozenset({"address", "addresses", "id", "ids", "list", "number", "numbers"})
"""Last words that change nothing: `phone_number` is a phone."""

ASIDE = frozenset({
    "count", "country", "currency", "date", "day", "enabled", "format", "kind", "language", "limit", "locale", "month",
    "order", "page", "size", "status", "time", "timezone", "type", "verified", "year",
})  # fmt: skip
"""Last words of what is said about a thing."""

PROSE = frozenset({
    "body", "comment", "content", "description", "message", "note", "notes", "reason", "reference", "remark", "subject",
    "summary", "text", "title",
})  # fmt: skip
"""Last words of what people write."""

URLS = frozenset({"callback", "endpoint", "href", "iri", "url", "urls", "webhook", "webhooks"})
"""Addresses of the network."""

MAYBE_URLS = frozenset({
    "domain", "domains", "feed", "homepage", "host", "hostname", "image", "ip", "link", "links", "location", "origin",
    "photo", "picture", "proxy", "remote", "repo", "repository", "server", "site", "source", "src", "target", "uri",
    "uris", "website",
})  # fmt: skip
"""Addresses of the network, where the value looks like one."""

HOSTS = frozenset({"domain", "domains", "host", "hostname", "ip", "proxy", "remote", "server", "site", "website"})
"""Of those, where a bare host does."""

COMMANDS = frozenset({"argv", "bash", "cmd", "cmdline", "command", "commands", "powershell", "shell", "sql"})
"""What is executed."""

SOURCES = frozenset({
    "code", "expression", "javascript", "program", "python", "script", "snippet", "statement", "statements",
})  # fmt: skip
"""What is executed, where a tool runs or executes."""

INPUTS = frozenset({"args", "arguments", "input", "line", "query", "source"})
"""What is executed, where a tool executes."""

EXECUTES = frozenset({
    "bash", "console", "eval", "exec", "execute", "graphql", "interpreter", "python", "repl", "shell", "sql", "ssh",
    "terminal",
})  # fmt: skip
"""Words of tools that execute."""

AMOUNTS = frozenset({
    "amount", "amounts", "bid", "budget", "cash", "charge", "cost", "credit", "debit", "deposit", "donation", "fee",
    "money", "payment", "price", "refund", "salary", "sum", "tip", "total", "wage", "withdrawal",
})  # fmt: skip
"""How much is paid."""

MONEY = frozenset({"cents", "chf", "dollars", "eur", "euros", "gbp", "jpy", "pence", "pounds", "usd", "yen"})
"""Last words of amounts."""

AMOUNTS_OF_PAYMENTS = frozenset({"qty", "quantity", "shares", "units", "value"})
"""How much, where a tool pays."""

OF_NO_AMOUNT = frozenset({"by", "card", "code", "id", "ids", "method", "name", "note", "option", "pages", "reason"})
"""Last words of what is no amount although a word of one stands before."""
