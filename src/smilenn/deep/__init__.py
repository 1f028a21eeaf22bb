"""Boxes whose ends are networks of several hidden layers, certified by the deep rule."""
