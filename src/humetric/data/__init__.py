"""Where data comes from: generators that ship with the package, a local mirror, the hub."""
