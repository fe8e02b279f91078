#!/bin/sh
# Runs Goblin with the config at /etc/goblin/goblin.json, if that is there and no other is named.
set -eu

if [ -z "${GOBLIN_CONFIG:-}" ] && [ -e /etc/goblin/goblin.json ]; then
  export GOBLIN_CONFIG=/etc/goblin/goblin.json
fi
exec goblin "$@"
