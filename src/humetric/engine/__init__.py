"""Masked evaluation: one engine that answers *what if these features were replaced?*"""
