"""The network: auxiliaries, backbones, SmileNet, its snapshot and its folder on disk."""
